export { emit, emitToBuyer, newBuyerEvent } from './emit.ts'
export type {
  Buyer,
  BuyerEvent,
  BuyerEventDataOf,
  BuyerEventName,
  EventDataOf,
  EventName,
  EventReader,
  MarketEvent,
} from './event.ts'
export { maintainEventPartitions, maintainPartitions } from './partitions.ts'
export { deleteEventsOf, findEventsAfter, findLastSeqs, findReset, lockBuyerEvents } from './store.ts'
