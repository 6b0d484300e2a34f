export interface Upstream { x: 1 }
