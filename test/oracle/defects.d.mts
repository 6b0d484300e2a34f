export const defects: readonly { name: string; edits: [file: string, text: string, replacement: string][] }[];
