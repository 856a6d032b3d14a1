import type { Operations } from '@market/sdk'
import { AlertIcon } from './icons.tsx'

type Config = Operations['getConfig']['data']

/** Says what the operators have switched off. */
export function Stopped({ config: { stopped } }: { readonly config: Config }) {
  if (!stopped.writes && !stopped.intake) return null
  return (
    <p className="banner warn">
      <AlertIcon />
      <span>
        <strong>{stopped.writes ? 'Nothing can be changed now' : 'No new orders for the moment'}</strong>
        {stopped.writes
          ? 'The marketplace is read-only. Your money is safe, and deadlines wait.'
          : 'Orders that exist go on as usual.'}
      </span>
    </p>
  )
}
