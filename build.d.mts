export function bundle(entry?: string): Promise<void>;
