export interface Plan { x: 1 }
