import { useQuery } from '@tanstack/react-query'
import { useRouteContext } from '@tanstack/react-router'
import { shortened } from '../format.ts'
import { configQuery } from '../market.ts'
import { NETWORKS, type NetworkName } from '../names.ts'
import { OutIcon } from './icons.tsx'

export const Network = ({ name }: { readonly name: NetworkName }) => (
  <span className={`net ${NETWORKS[name].style}`}>
    <i />
    {NETWORKS[name].label}
  </span>
)

/** A letter for each network on which a service can be paid. */
export function NetworkTags({ names }: { readonly names: readonly NetworkName[] }) {
  const label = `Pay on ${names.map((name) => NETWORKS[name].label).join(', ')}`
  return (
    <span className="nets" role="img" aria-label={label} title={label}>
      {names.map((name) => (
        <span key={name} className={`net-tag ${NETWORKS[name].style}`} aria-hidden="true">
          {NETWORKS[name].initial}
        </span>
      ))}
    </span>
  )
}

interface OnChainProps {
  readonly network: NetworkName
  readonly kind: 'address' | 'transaction'
  readonly text: string
  /** All of it, as on paper. */
  readonly isWhole?: boolean
}

/** An address or a transaction, with a link where the network has an explorer. */
export function OnChain({ network, kind, text, isWhole = false }: OnChainProps) {
  const shown = isWhole ? text : shortened(text)
  const style = isWhole ? 'mono any-word' : 'mono nowrap'
  const context = useRouteContext({ from: '__root__' })
  const { data: config } = useQuery(configQuery(context))
  const { explorer_address_url: address, explorer_transaction_url: transaction } =
    config?.networks.find((one) => one.network === network) ?? {}
  const url = kind === 'address' ? address?.replace('{address}', text) : transaction?.replace('{hash}', text)
  if (url == null)
    return (
      <span className={isWhole ? style : 'mono'} title={text}>
        {shown}
      </span>
    )
  return (
    <a className={style} href={url} title={text} target="_blank" rel="noopener noreferrer">
      {shown} <OutIcon />
      <span className="visually-hidden"> on {new URL(url).host}</span>
    </a>
  )
}
