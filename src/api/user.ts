import type { Representation } from './endpoint.ts';

/** A person embedded in v2 responses. Film responses have a shorter form; the form of Atom is in `event.ts`. */
export interface UserRecord {
  id: string;
  uid?: string;
  name?: string;
  /** API URL of the person. */
  url?: string;
  alt?: string;
  avatar?: string;
  large_avatar?: string;
  signature?: string;
  desc?: string;
  loc_id?: string;
  loc_name?: string;
  created?: string;
  /** `site` is an organisation. */
  type?: string;
  is_banned?: boolean;
  is_suicide?: boolean;
}

/** A person beside what the person wrote or created. */
export const personWithin: Representation = { members: ['id', 'type', 'name', 'alt', 'avatar', 'large_avatar'] };
