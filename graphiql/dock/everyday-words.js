/** Words that people search for, and those that the schema uses instead. */
export const everydayWords = {
  movie: ['subject', 'film'],
  film: ['subject', 'movie'],
  show: ['subject', 'television'],
  tv: ['subject', 'television'],
  cinema: ['theaters', 'cinemas'],
  director: ['celebrity', 'directors'],
  actor: ['casts', 'celebrity'],
  actress: ['casts', 'celebrity'],
  star: ['celebrity', 'rating'],
  weekend: ['events', 'event', 'startsAt'],
  today: ['events', 'event', 'startsAt'],
  tonight: ['events', 'event', 'startsAt'],
  tomorrow: ['events', 'event', 'startsAt'],
  concert: ['events', 'music'],
  party: ['events'],
  shelf: ['bookCollections', 'collection'],
  library: ['bookCollections', 'collection'],
  save: ['collectBook'],
  bookmark: ['collectBook'],
  reader: ['user', 'bookCollections'],
  annotator: ['annotations', 'author'],
  quote: ['annotation'],
  highlight: ['annotation'],
  diary: ['note', 'notes'],
  blog: ['note', 'notes'],
  picture: ['photo', 'images', 'poster'],
  photo: ['photos', 'portrait'],
  trailer: ['trailerUrls', 'clipUrls'],
  score: ['rating'],
  best: ['top250'],
  popular: ['top250', 'weeklyChart'],
  new: ['newMovies', 'comingSoon'],
  town: ['city'],
  friend: ['user'],
  me: ['viewer'],
  login: ['viewer', 'isLoggedIn'],
  premium: ['filmTier', 'tier'],
  permission: ['canUse'],
  allowed: ['canUse'],
  cheaper: ['rateBudget', 'first', 'calls'],
  cheap: ['rateBudget', 'first', 'calls'],
  price: ['rateBudget', 'calls'],
  cost: ['rateBudget', 'calls'],
  quota: ['rateBudget'],
  page: ['pageInfo', 'first'],
  offline: ['shelfChanges', 'noteChanges'],
  sync: ['shelfChanges', 'noteChanges'],
};

/** Words of a sentence that say nothing of what is searched. */
export const fillers = new Set(
  (
    'a all also an and any are at be between by can cannot do does for from get gets give happen happens has have how i in is it its ' +
    'like list many more most much my not of on one only or over see than that the their them there they this to under ' +
    'want was we what when where which who whom whose why will with without would you'
  ).split(' '),
);

/** Sections that answer a question better than the schema does: what their buttons say, and the words of the questions. */
export const sectionsByWords = {
  Price: {
    says: 'Price: what the open document costs, and what makes it cheaper',
    words: ['cheaper', 'cheap', 'price', 'cost', 'dear', 'expensive', 'calls', 'limit'],
  },
  People: {
    says: 'People: what each person may use, and what each is refused',
    words: [
      'alice',
      'bob',
      'carol',
      'nobody',
      'token',
      'login',
      'logged',
      'permission',
      'allowed',
      'forbidden',
      'refused',
      'tier',
      'premium',
    ],
  },
};
