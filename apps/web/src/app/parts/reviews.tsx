import type { Operations } from '@market/sdk'
import { counted } from '../format.ts'
import { Ago } from './now.tsx'
import { Stars } from './stars.tsx'

export const Reviews = ({ reviews }: { readonly reviews: Operations['listReviews']['data'] }) => (
  <ul className="revlist">
    {reviews.map((review) => (
      <li key={review.id}>
        <div className="between">
          <Stars rating={review.rating} />
          <Ago at={review.created_at} />
        </div>
        <p className="any-word">{review.comment}</p>
      </li>
    ))}
  </ul>
)

type StarCounts = Operations['listReviews']['more']['stars']

const STARS = [5, 4, 3, 2, 1] as const
const WIDTH = 150
const ROW = 17

/** The average, and how many reviews have how many stars. */
export function StarSummary({ average, stars }: { readonly average: number; readonly stars: StarCounts }) {
  const count = STARS.reduce((sum, star) => sum + stars[star], 0)
  return (
    <div className="revsum">
      <span className="figure">{average.toFixed(1)}</span>
      <Stars rating={Math.round(average)} size={16} />
      <span className="muted sm">{counted(count, 'review')}</span>
      <svg
        className="chart"
        viewBox={`0 0 200 ${STARS.length * ROW}`}
        role="img"
        aria-label={STARS.map((star) => `${counted(star, 'star')}: ${stars[star]}`).join(', ')}
      >
        {STARS.map((star, at) => (
          <g key={star} transform={`translate(0 ${at * ROW})`}>
            <text x="0" y="10">
              {star}
            </text>
            <rect className="f-line" x="14" y="3" width={WIDTH} height="6" rx="3" opacity="0.5" />
            {stars[star] > 0 && (
              <rect
                className="f-warn"
                x="14"
                y="3"
                width={Math.max(4, (stars[star] / count) * WIDTH)}
                height="6"
                rx="3"
              />
            )}
            <text x="196" y="10" textAnchor="end">
              {stars[star].toLocaleString('en')}
            </text>
          </g>
        ))}
      </svg>
    </div>
  )
}
