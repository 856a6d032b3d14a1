export { acceptVenueTransfer } from './accept-venue-transfer.ts'
export { advanceVenueTransfers } from './advance-venue-transfers.ts'
export { findArrived } from './find-arrived.ts'
export { requestDeploy, requestRecall } from './request-venue-transfer.ts'
export {
  findRecall,
  findVenueTransfer,
  isBeingRecalled,
  lockVenueTransfer,
  saveVenueTransfer,
} from './store.ts'
export { venuePayout } from './venue-payout.ts'
export { type VenueTransfer, venueTransferAccount } from './venue-transfer.ts'
