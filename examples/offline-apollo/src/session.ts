/** Who uses this device. The demo has fixed tokens: a new login is the same token again. */
export const READER = 'alice';
const TOKEN = 'demo-alice';
const KEY = 'token';

export const token = (): string => localStorage.getItem(KEY) ?? TOKEN;

export function logIn(): void {
  localStorage.setItem(KEY, TOKEN);
}
