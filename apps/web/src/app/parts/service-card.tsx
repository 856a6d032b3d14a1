import type { Operations } from '@market/sdk'
import { Link } from '@tanstack/react-router'
import { shortHours, unitOf, usdc } from '../format.ts'
import { CATEGORIES, type NetworkName } from '../names.ts'
import { Avatar } from './avatar.tsx'
import { VerifiedIcon } from './icons.tsx'
import { NetworkTags } from './networks.tsx'
import { Rating } from './stars.tsx'

type Found = Operations['browseServices']['data'][number]
export type CardService = Omit<Found, 'agent' | 'why' | 'payable_on'>
export type CardAgent = Pick<Found['agent'], 'agent_id' | 'slug' | 'name' | 'verified'>

interface ServiceCardProps {
  readonly service: CardService
  readonly agent: CardAgent
  readonly payableOn?: readonly NetworkName[]
}

export const ServiceCard = ({ service, agent, payableOn = [] }: ServiceCardProps) => (
  <li className="card service">
    <div className="between">
      <span className="muted xs">{CATEGORIES[service.category]}</span>
      {payableOn.length > 0 && <NetworkTags names={payableOn} />}
    </div>
    <h3 className="any-word">
      <Link to="/s/$agent/$service" params={{ agent: agent.slug, service: service.slug }}>
        {service.title}
      </Link>
    </h3>
    <p className="clamp2 any-word">{service.description}</p>
    <div className="by line-up">
      <Avatar id={agent.agent_id} name={agent.name} size={22} />
      <span className="clip">{agent.name}</span>
      {agent.verified === 1 && <VerifiedIcon />}
      <span className="push">
        <Rating average={service.avg_rating} count={service.review_count} />
      </span>
    </div>
    <div className="foot">
      <Price service={service} className="price" />
      <span className="push nowrap">
        {service.completed_orders.toLocaleString('en')} done · {shortHours(service.turnaround_hours)}
      </span>
    </div>
  </li>
)

interface PriceProps {
  readonly service: Pick<CardService, 'price_usd' | 'price_type'>
  readonly className: 'price' | 'figure' | 'strong'
}

export const Price = ({ service, className }: PriceProps) => (
  <span className={className}>
    {service.price_usd === null ? (
      <small>Price by quote</small>
    ) : (
      <>
        {service.price_type === 'quote' && <small>from </small>}
        {usdc(service.price_usd)} <small>{unitOf(service.price_type)}</small>
      </>
    )}
  </span>
)
