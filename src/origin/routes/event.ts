import { eventEndpoints } from '../../api/event.ts';
import { routesOf } from '../exchange.ts';
import * as rules from '../rules/event.ts';

export const eventRoutes = routesOf(eventEndpoints, {
  byId: rules.event,
  participants: rules.attendees('participate'),
  wishers: rules.attendees('wish'),
  ofUser: rules.eventsOfPerson('any'),
  initiated: rules.eventsOfPerson('initiate'),
  participated: rules.eventsOfPerson('participate'),
  wished: rules.eventsOfPerson('wish'),
  ofCity: rules.eventsOfCity,
  search: rules.searchEvents,

  create: rules.createEvent,
  update: rules.updateEvent,
  delete: rules.deleteEvent,
  join: rules.attend('participate'),
  wish: rules.attend('wish'),
  leave: rules.leave('participate'),
  unwish: rules.leave('wish'),
});
