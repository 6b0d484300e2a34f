// Printed by "npm run codegen" from operations/; not edited by hand.

/** The ids of the documents in manifest.json, by the name of their operation: SHA-256 of their text. */
export const documentIds: Record<
  | 'Annotate'
  | 'Annotations'
  | 'Book'
  | 'Celebrity'
  | 'Charts'
  | 'City'
  | 'Collect'
  | 'Dashboard'
  | 'Diary'
  | 'Event'
  | 'Explain'
  | 'Film'
  | 'WriteNote'
  | 'Search'
  | 'ShelfSync'
  | 'Shelf',
  string
> = {
  Annotate: '75e8e87ba460861ced695eecba7dfb16a74193cbaac3bd952694b9f92893ea8c',
  Annotations: '805e07e038cf7b9a28cff878f0fe87869dd9a458216a74ba7bb8634aa2e34239',
  Book: '20ec5f619ed7c0fb28253ed9a2e617ae094cfafdbc0776fd164f9a12859a6185',
  Celebrity: 'd8448b18525aa10371fefc16a52d7d8e8be7bc21591748e4c4887ec87064cc0e',
  Charts: '8dcc81b0724769e19c04835b97b7879b37e0f40a19e9e7d22ce8a6096a5fe4f0',
  City: '652f9ec1ca1cdc0884720943533afc18c556ab0c60578295a6c6e4bc896ba8eb',
  Collect: 'a9e728bbdb09a1425c1207e934140a02e40b4ed46e4d93a348b292be5835ac84',
  Dashboard: '177ffc805441aeb89e20ef97c50f508463e8de87bce3ece6d8a4d540b468fd0d',
  Diary: 'ea79a6bf52074240ccae13f0a4aa037815c4cf72a0771ccf495637acde80c671',
  Event: 'afdc96fb4a172fde0c3a4adf7d62ce558c5f7b3448a04d3b96b4759fba3bd963',
  Explain: '03f1c0ee5ef9404b96e0a014d4a97a6ece3eea89d6eb46b2ac91cef8c78febf0',
  Film: '0e09050eaa707b6138871f30257d8bf31a6d7b0102291b5b5a719474888ccbc3',
  WriteNote: '1f71138a169a9af2e9f80d9873f6a8e4fe9214d2765ca7116b63e04d6f2f2205',
  Search: 'a94f3b4773399870779afae9688282022ce3dd22a8b2c1707c3df162ebf15ae0',
  ShelfSync: 'e32d3e083bdcdfa1777eee744ef6a6b55eb4192235aa1d4e4882548f5db1803e',
  Shelf: '6b650062aa8be2a7d23f26a8b901763fd39d91a4c40ec21fdf8a0b825425d877',
};

/** What tells these documents from others with their names. */
export const fingerprints: typeof documentIds = {
  Annotate: 'zo2pse',
  Annotations: '150yv9x',
  Book: '5ub2o7',
  Celebrity: '1w2nd32',
  Charts: '1giw8bf',
  City: '1gvq238',
  Collect: '1wuf8ll',
  Dashboard: 'af5mkg',
  Diary: '6wr02o',
  Event: '138uvf3',
  Explain: 'vzes1m',
  Film: '63wuv6',
  WriteNote: '1wywbkv',
  Search: 'x5b1m8',
  ShelfSync: '1wo8993',
  Shelf: 'eigwah',
};
