import type { Database } from './database.ts';

export type CityStore = ReturnType<typeof createCityStore>;

export function createCityStore(db: Database) {
  const { query } = db;
  return {
    byId: (id: string) => db.first(query.selectFrom('cities').selectAll().where('id', '=', id)),
    /** By either id, or by name. */
    named: (name: string) =>
      db.first(
        query
          .selectFrom('cities')
          .selectAll()
          .where((row) => row.or([row('id', '=', name), row('loc_id', '=', name), row('name', '=', name)])),
      ),
  };
}
