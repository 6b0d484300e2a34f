/** The digits of an ISBN without hyphens and spaces; null unless they are 10 or 13 with a valid check digit. */
export function isbnOf(written: string): string | null {
  if (written.length > 64) return null;
  const isbn = written.replace(/[\s\u2010-\u2015-]/g, '').toUpperCase();
  if (/^\d{9}[\dX]$/.test(isbn)) return weigh(isbn, (index) => 10 - index) % 11 === 0 ? isbn : null;
  if (/^\d{13}$/.test(isbn)) return weigh(isbn, (index) => (index % 2 ? 3 : 1)) % 10 === 0 ? isbn : null;
  return null;
}

const weigh = (isbn: string, weight: (index: number) => number): number =>
  [...isbn].reduce((sum, digit, index) => sum + (digit === 'X' ? 10 : Number(digit)) * weight(index), 0);
