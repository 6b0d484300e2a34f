/** Each endpoint that is read with the type of its response, and the members of each type. */
export function apiShapes(root: string): {
  reads: Record<string, string>;
  shapes: Record<string, Record<string, string>>;
};
