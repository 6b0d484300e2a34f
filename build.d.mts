export const nodeFlags: readonly string[];
export function bundle(entry?: string, onBuild?: (what: string) => void): Promise<void>;
export function publishOperations(): Promise<void>;
export function publishClient(): Promise<void>;
export function publishGraphiql(onBuild?: (what: string) => void): Promise<void>;
export function publishDocs(onBuild?: (what: string) => void): Promise<void>;
export function buildProgram(): Promise<void>;
