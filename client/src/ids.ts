/** The type of the object that a global id names. */
export const typeOfId = (id: string): string => id.slice(0, id.indexOf(':'));
