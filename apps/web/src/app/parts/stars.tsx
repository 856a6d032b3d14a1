import { StarIcon } from './icons.tsx'

/** The average and the number of reviews. */
export const Rating = ({ average, count }: { readonly average: number | null; readonly count: number }) =>
  average === null ? (
    <span className="stars">
      <span className="muted">No reviews yet</span>
    </span>
  ) : (
    <span className="stars">
      <StarIcon /> <strong>{average.toFixed(1)}</strong>{' '}
      <span className="muted">({count.toLocaleString('en')})</span>
    </span>
  )

interface StarsProps {
  readonly rating: number
  readonly size?: number
}

/** The stars of one review. */
export const Stars = ({ rating, size = 13 }: StarsProps) => (
  <span className="stars" role="img" aria-label={`${rating} of 5 stars`}>
    {Array.from({ length: rating }, (_, star) => star).map((star) => (
      <StarIcon key={star} size={size} />
    ))}
  </span>
)
