import type { Stored } from '../store/database/schema.ts';
import type { Call } from './call.ts';

/** The city with this id of either service, or with this name. */
export const cityNamed = ({ db }: Call, name: string): Stored<'cities'> | undefined =>
  db.find('cities', { id: name }) ?? db.find('cities', { loc_id: name }) ?? db.find('cities', { name });
