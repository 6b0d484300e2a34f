import { filmEndpoints } from '../../api/film.ts';
import { routesOf } from '../exchange.ts';
import * as rules from '../rules/film.ts';

export const filmRoutes = routesOf(filmEndpoints, {
  subject: rules.subject,
  celebrity: rules.celebrity,
  photos: rules.photosOfSubject,
  reviews: rules.reviewsOfSubject,
  comments: rules.commentsOfSubject,
  works: rules.works,
  celebrityPhotos: rules.photosOfCelebrity,
  search: rules.searchFilms,
  top250: rules.top250,
  usBox: rules.usBox,
  weekly: rules.weekly,
  newMovies: rules.newMovies,
  inTheaters: rules.inTheaters,
  comingSoon: rules.comingSoon,
});
