export const nodeFlags: readonly string[];
export function bundle(entry?: string): Promise<void>;
export function publishOperations(): Promise<void>;
export function publishGraphiql(): Promise<void>;
export function publishDocs(): Promise<void>;
