export { emit } from './emit.ts'
export type { EventDataOf, EventName, MarketEvent } from './event.ts'
export { maintainEventPartitions, maintainPartitions } from './partitions.ts'
export { findEventsAfter, findLastSeqs } from './store.ts'
