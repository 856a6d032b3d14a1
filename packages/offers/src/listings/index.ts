export { browseListings } from './browse-listings.ts'
export { type CountedFilter, countListings, type ListingCounts, matchesOf } from './count-listings.ts'
export { createListing } from './create-listing.ts'
export { deactivateListing, deactivateListingsOf } from './deactivate-listing.ts'
export { getListing, getListingBySlug } from './get-listing.ts'
export { listListings, newestListings } from './list-listings.ts'
export {
  averageRating,
  isBelow,
  type Listing,
  type ListingSummary,
  listingNotFound,
  type Offer,
  type RequirementField,
  rejectLowPrice,
} from './listing.ts'
export type { Found } from './page.ts'
export {
  countOrdered,
  countRating,
  countSettled,
  findListing,
  findListings,
  findPastPrices,
  findRequirementFields,
  readStars,
  uncountSettled,
} from './store.ts'
export { updateListing } from './update-listing.ts'
