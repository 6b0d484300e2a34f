/** Such ids are numbers, written as texts; what is no number is nobody's id. */
export function numericId(id: string): number {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
}
