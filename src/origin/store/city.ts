import { Store } from './database.ts';
import type { Stored } from './schema.ts';

export class CityStore extends Store {
  byId(id: string): Stored<'cities'> | undefined {
    return this.db.first(this.query.selectFrom('cities').selectAll().where('id', '=', id));
  }

  /** By either id, or by name. */
  named(name: string): Stored<'cities'> | undefined {
    const named = this.query
      .selectFrom('cities')
      .selectAll()
      .where((row) => row.or([row('id', '=', name), row('loc_id', '=', name), row('name', '=', name)]));
    return this.db.first(named);
  }
}
