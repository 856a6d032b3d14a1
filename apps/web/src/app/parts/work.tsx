import type { Operations } from '@market/sdk'
import { Ago } from './now.tsx'

type Entry = Operations['listPortfolio']['data'][number]

/** Work of completed orders: the beginning of texts, the kind of what is a file. */
export const Work = ({ entries }: { readonly entries: readonly Entry[] }) => (
  <ul className="files">
    {entries.map(({ source_id, title, completed_at, deliverables: [first] }) => (
      <li className="file" key={source_id}>
        <span className="thumb">
          {first?.excerpt ? (
            <pre>{first.excerpt}</pre>
          ) : (
            <span className="badge">{first?.title ?? first?.type ?? 'work'}</span>
          )}
        </span>
        <span className="name">
          <strong className="clip">{title}</strong>
          <Ago at={completed_at} />
        </span>
      </li>
    ))}
  </ul>
)
