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
  | 'DeleteCollection'
  | 'Diary'
  | 'Event'
  | 'Explain'
  | 'Film'
  | 'WriteNote'
  | 'ReplaceReview'
  | 'WriteReview'
  | 'Search'
  | 'ShelfSync'
  | 'Shelf'
  | 'UpdateAnnotation'
  | 'UpdateCollection'
  | 'UpdateNote',
  string
> = {
  Annotate: '9f59fddf176946d1bea9797e36170d25b8fb8d38844b7c9163a0fec5f761a752',
  Annotations: '805e07e038cf7b9a28cff878f0fe87869dd9a458216a74ba7bb8634aa2e34239',
  Book: 'c6234d26da47e695e73b43dfd3b575f159d99ef7be1ae48b159d09abc0101da0',
  Celebrity: 'd8448b18525aa10371fefc16a52d7d8e8be7bc21591748e4c4887ec87064cc0e',
  Charts: '8dcc81b0724769e19c04835b97b7879b37e0f40a19e9e7d22ce8a6096a5fe4f0',
  City: '652f9ec1ca1cdc0884720943533afc18c556ab0c60578295a6c6e4bc896ba8eb',
  Collect: 'c16f5f36bc58c6f88faa16c1f39e67439f37a679fdffe615dc7916e9fe8d03e9',
  Dashboard: '177ffc805441aeb89e20ef97c50f508463e8de87bce3ece6d8a4d540b468fd0d',
  DeleteCollection: '127c4fa2247b51f6eb0d7462a5c4948f87c5e14611ea41dc691c1e6976eedeb2',
  Diary: 'ea79a6bf52074240ccae13f0a4aa037815c4cf72a0771ccf495637acde80c671',
  Event: 'afdc96fb4a172fde0c3a4adf7d62ce558c5f7b3448a04d3b96b4759fba3bd963',
  Explain: '03f1c0ee5ef9404b96e0a014d4a97a6ece3eea89d6eb46b2ac91cef8c78febf0',
  Film: '0e09050eaa707b6138871f30257d8bf31a6d7b0102291b5b5a719474888ccbc3',
  WriteNote: '45aa76a2c78b3038269a75d16b27e44f701d95f2a07466fb623257497867599f',
  ReplaceReview: '697fdd2f10ddff0f15d420a4c50c5bd7e0af8fe6a9003b76d21e6b56e0116126',
  WriteReview: 'f76d9c38a97cb8f186d2f0ac46238677fa85fab371fb298fdfa5fecbc310a70c',
  Search: 'a94f3b4773399870779afae9688282022ce3dd22a8b2c1707c3df162ebf15ae0',
  ShelfSync: '8f6b1c8471d65165873a279df7cb5f38b18b0d715d3fb2342236aacf0a7df263',
  Shelf: '6b650062aa8be2a7d23f26a8b901763fd39d91a4c40ec21fdf8a0b825425d877',
  UpdateAnnotation: '73585f5a1a7760cfb631faa9bda6deb27dcaedc3fa2d556c3ada0499e0912edb',
  UpdateCollection: '611217883d976ccf5e3cca99536832534673b3b30800c9da49644aaadc6536b6',
  UpdateNote: 'ff68d3434845410aae3ffb842fa06d82bf3bdff3bb3941479564efa0db636bc5',
};

/** What tells these documents from others with their names. */
export const fingerprints: typeof documentIds = {
  Annotate: '177m794',
  Annotations: '150yv9x',
  Book: 'fzh6mj',
  Celebrity: '1w2nd32',
  Charts: '1giw8bf',
  City: '1gvq238',
  Collect: '1w2i8em',
  Dashboard: 'af5mkg',
  DeleteCollection: '10k11d7',
  Diary: '6wr02o',
  Event: '138uvf3',
  Explain: 'vzes1m',
  Film: '63wuv6',
  WriteNote: '1bcw0tq',
  ReplaceReview: '1084beb',
  WriteReview: '4v23pi',
  Search: 'x5b1m8',
  ShelfSync: '1k6bjyd',
  Shelf: 'eigwah',
  UpdateAnnotation: '1pzyklv',
  UpdateCollection: '17uaq3',
  UpdateNote: '1vnq04j',
};
