import { useState } from 'react'
import { useCalls } from '../session/use-calls.ts'
import { BountyCard } from './bounty-card.tsx'
import { type BountyPage, waitingOf } from './bounty-page.ts'
import { Claims, Transfers } from './claims.tsx'
import { ConfirmDialog } from './confirm-dialog.tsx'

interface PosterViewProps {
  readonly page: BountyPage
  readonly onChanged: () => Promise<unknown>
}

/** A bounty for its poster: what is to be decided, the claims, and what was paid. */
export function PosterView({ page, onChanged }: PosterViewProps) {
  const { call, isSigned } = useCalls()
  const [isCancelling, setCancelling] = useState(false)
  const cancel = async () => {
    await call((market, options) =>
      market.cancelBounty({ bounty_id: page.bounty_id, status: 'cancelled' }, options),
    )
    await onChanged()
  }
  return (
    <div className="stack">
      <BountyCard page={page}>
        {page.status === 'open' && waitingOf(page) === undefined && (
          <div className="acts">
            <button className="btn quiet danger" type="button" onClick={() => setCancelling(true)}>
              Cancel the bounty
            </button>
          </div>
        )}
      </BountyCard>
      <Claims page={page} onChanged={onChanged} />
      <Transfers transfers={page.transfers ?? []} />
      {isCancelling && (
        <ConfirmDialog
          title="Cancel the bounty?"
          text="Its claims are rejected. Nothing was paid; a transfer that still arrives is sent back."
          label="Cancel the bounty"
          isSigned={isSigned}
          onConfirm={cancel}
          onClose={() => setCancelling(false)}
        />
      )}
    </div>
  )
}
