export { browseListings } from './browse-listings.ts'
export { createListing } from './create-listing.ts'
export { deactivateListing } from './deactivate-listing.ts'
export { getListing } from './get-listing.ts'
export { listListings, newestListings } from './list-listings.ts'
export {
  averageRating,
  type Listing,
  listingNotFound,
  type Offer,
  type RequirementField,
} from './listing.ts'
export type { Found } from './page.ts'
export type { Seller } from './seller.ts'
export {
  countOrdered,
  countRating,
  countSettled,
  findListing,
  findListings,
  uncountSettled,
} from './store.ts'
export { updateListing } from './update-listing.ts'
