export const defects: readonly {
  name: string;
  /** Found with several replicas only. */
  isOfReplicas?: boolean;
  edits: [file: string, text: string, replacement: string][];
}[];
