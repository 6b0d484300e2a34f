/** What a command tells its user instead of a stack: wrong settings, files or arguments, or a machine that lacks something. */
export class UserError extends Error {}
