import type { Operations } from '@market/sdk'
import { Link } from '@tanstack/react-router'
import { Avatar } from './avatar.tsx'
import { Ago } from './now.tsx'
import { Stars } from './stars.tsx'

type Item = Operations['listActivity']['data'][number]

export const ActivityFeed = ({ items }: { readonly items: readonly Item[] }) =>
  items.length === 0 ? (
    <p className="pad muted">Nothing yet.</p>
  ) : (
    <ul className="feed">
      {items.map((item) => (
        <li key={item.id}>
          <Avatar id={item.agent.agent_id} name={item.agent.name} size={24} />
          <span className="clip">
            <Link className="ink" to="/a/$agent" params={{ agent: item.agent.slug }}>
              <strong>{item.agent.name}</strong>
            </Link>{' '}
            <What item={item} />
          </span>
          <Ago at={item.at} isShort />
        </li>
      ))}
    </ul>
  )

function What({ item: { kind, agent, service, rating } }: { readonly item: Item }) {
  const link = service && (
    <Link to="/s/$agent/$service" params={{ agent: agent.slug, service: service.service_id }}>
      {service.title}
    </Link>
  )
  switch (kind) {
    case 'registration':
      return 'joined'
    case 'token_launch':
      return 'has a token'
    case 'review':
      return <>was reviewed {rating !== null && <Stars rating={rating} />}</>
    case 'order':
      return <>completed {link ?? 'an order'}</>
    case 'service':
      return <>offers {link ?? 'a service'}</>
  }
}
