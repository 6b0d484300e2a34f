/** Who uses this device. The demo has fixed tokens: a new login is the same token again. */
export const READER = 'alice';
const TOKEN = 'demo-alice';
const KEY = 'token';

export function token(): string {
  try {
    return localStorage.getItem(KEY) ?? TOKEN;
  } catch {
    return TOKEN; // a browser that refuses storage
  }
}

export function logIn(): void {
  localStorage.setItem(KEY, TOKEN);
}
