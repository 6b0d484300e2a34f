/** Values of the flags of commands. */
import { InvalidArgumentError } from 'commander';

export function wholeNumber(text: string): number {
  if (!/^[1-9]\d{0,7}$/.test(text)) throw new InvalidArgumentError('It must be a whole number from 1 to 99999999.');
  return Number(text);
}
