export const defects: readonly {
  readonly name: string;
  readonly edits: readonly (readonly [file: string, before: string, after: string])[];
}[];
