/** The members of a record that are columns of its row under the same names. */
export const columns = <Row extends object, Name extends keyof Row>(row: Row, ...names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;
