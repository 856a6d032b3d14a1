export { createReview } from './create-review.ts'
export { listReviews, newestReviews } from './list-reviews.ts'
export type { Rating, Review } from './review.ts'
export { eraseComments, findReviewOf } from './store.ts'
