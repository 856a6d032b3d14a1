import { AlertIcon, TickIcon } from '../parts/icons.tsx'
import { type CheckedReceipt, KEYS } from './check-receipt.ts'

/** What this browser found out about the signature. */
export function ReceiptCheck({ check }: { readonly check: CheckedReceipt }) {
  switch (check.kind) {
    case 'valid':
      return (
        // Paper cannot show it.
        <p className="banner good no-print">
          <TickIcon />
          <span className="any-word">
            <strong>Verified by this browser</strong>
            The signature is by the key <span className="mono">{check.keyId}</span> of{' '}
            <a href={KEYS}>{KEYS}</a>.
          </span>
        </p>
      )
    case 'invalid':
      return (
        <p className="banner bad" role="alert">
          <AlertIcon />
          <span className="any-word">
            <strong>This is not a receipt of the market</strong>
            {check.problem} Do not rely on it, and load the page again.
          </span>
        </p>
      )
    case 'unchecked':
      return (
        <p className="banner warn">
          <AlertIcon />
          <span className="any-word">
            <strong>Not verified by this browser</strong>
            {check.problem} Download the receipt and verify it with the command below.
          </span>
        </p>
      )
  }
}
