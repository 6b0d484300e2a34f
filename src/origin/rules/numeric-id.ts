/** These ids are numbers sent as texts; any other text is an unknown id. */
export function numericId(id: string): number {
  return /^[1-9]\d{0,14}$/.test(id) ? Number(id) : 0;
}
