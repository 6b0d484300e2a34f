/** The picture of docs/architecture.md, as a Mermaid block. */
export function architecture(): string;
