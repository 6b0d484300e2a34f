/** Each endpoint that is read with the type of its response, the members of each type, and those that are not optional. */
export function apiShapes(root: string): {
  reads: Record<string, string>;
  shapes: Record<string, Record<string, string>>;
  requiredMembers: Record<string, string[]>;
};
