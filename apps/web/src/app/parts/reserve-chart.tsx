import { shortDay, usdc } from '../format.ts'

export interface ReservePoint {
  readonly day: string
  readonly held_usd: string
  readonly owed_usd: string
}

type Line = 'held_usd' | 'owed_usd'

const SIZES = {
  wide: { width: 1_140, height: 280, marks: 5, className: 'chart hide-narrow' },
  narrow: { width: 300, height: 200, marks: 3, className: 'chart only-narrow' },
} as const
const LEFT = 48
const TOP = 14
const BOTTOM = 30
const LINES = [0, 1, 2, 3] as const

/** Held and owed by day, from zero. One drawing for each width, because letters must not shrink. */
export const ReserveChart = ({ points }: { readonly points: readonly ReservePoint[] }) => (
  <>
    <Drawing points={points} size="wide" />
    <Drawing points={points} size="narrow" />
  </>
)

interface DrawingProps {
  readonly points: readonly ReservePoint[]
  readonly size: keyof typeof SIZES
}

function Drawing({ points, size }: DrawingProps) {
  const { width, height, marks, className } = SIZES[size]
  const most = roundUp(
    Math.max(...points.flatMap((point) => [Number(point.held_usd), Number(point.owed_usd)])),
  )
  const floor = height - BOTTOM
  const times = points.map(({ day }) => Date.parse(day))
  const [first = 0, last = 0] = [times[0], times.at(-1)]
  const x = (time: number) => LEFT + ((time - first) / (last - first || 1)) * (width - LEFT - 8)
  const y = (amount: string) => floor - (Number(amount) / most) * (floor - TOP)
  const line = (of: Line) =>
    points
      .map((point, at) => `${at === 0 ? 'M' : 'L'}${x(times[at] ?? 0).toFixed(1)} ${y(point[of]).toFixed(1)}`)
      .join('')
  const area = (of: Line) => `${line(of)}L${x(last).toFixed(1)} ${floor}L${LEFT} ${floor}Z`
  const labels = Array.from({ length: marks }, (_, at) => first + ((last - first) * at) / (marks - 1))
  return (
    <svg className={className} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary(points)}>
      {LINES.map((at) => (
        <g key={at}>
          <line
            className="grid"
            x1={LEFT}
            x2={width}
            y1={floor - ((floor - TOP) * at) / 3}
            y2={floor - ((floor - TOP) * at) / 3}
          />
          <text x={LEFT - 8} y={floor - ((floor - TOP) * at) / 3 + 4} textAnchor="end">
            {compact((most * at) / 3)}
          </text>
        </g>
      ))}
      <path className="a-good" d={area('held_usd')} />
      <path className="a-accent" d={area('owed_usd')} />
      <path className="s-good" d={line('held_usd')} />
      <path className="s-accent" d={line('owed_usd')} />
      {labels.map((time, at) => (
        <text
          key={time}
          x={x(time)}
          y={height - 8}
          textAnchor={at === 0 ? 'start' : at === marks - 1 ? 'end' : 'middle'}
        >
          {shortDay(new Date(time).toISOString())}
        </text>
      ))}
      {/* The figures of a day, below the pointer. */}
      {points.map(({ day, held_usd: held, owed_usd: owed }, at) => (
        <g key={day}>
          <circle className="f-good dot-hit" cx={x(times[at] ?? 0)} cy={y(held)} r="4" />
          <rect
            className="hit"
            x={x(times[at] ?? 0) - (width - LEFT) / points.length / 2}
            y={TOP}
            width={(width - LEFT) / points.length}
            height={floor - TOP}
          >
            <title>{`${day}: ${usdc(held)} held, ${usdc(owed)} owed`}</title>
          </rect>
        </g>
      ))}
    </svg>
  )
}

const summary = (points: readonly ReservePoint[]): string => {
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return 'Held and owed'
  const below = points.filter((point) => Number(point.held_usd) < Number(point.owed_usd)).length
  return `Held and owed in USDC from ${first.day} to ${last.day}. Held is ${below === 0 ? 'at least what is owed on every day' : `below what is owed on ${below} days`}. On ${last.day}: ${usdc(last.held_usd)} held, ${usdc(last.owed_usd)} owed.`
}

/** The next number that three lines divide well. */
function roundUp(most: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(most, 1)))
  return ([1.5, 3, 6, 9, 15].find((step) => step * power >= most) ?? 15) * power
}

const COMPACT = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })
const compact = (amount: number): string => COMPACT.format(amount)
