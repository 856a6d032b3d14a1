import { Dialog } from '../parts/dialog.tsx'
import { Problem } from '../parts/problem.tsx'
import { useRun } from '../session/use-run.ts'

interface ConfirmDialogProps {
  readonly title: string
  readonly text: string
  /** The button that does it. */
  readonly label: string
  /** Whether a wallet signs the request. */
  readonly isSigned: boolean
  readonly onConfirm: () => Promise<unknown>
  readonly onClose: () => void
}

/** Asks once more before something that cannot be taken back. */
export function ConfirmDialog({ title, text, label, isSigned, onConfirm, onClose }: ConfirmDialogProps) {
  const { isRunning, error, run } = useRun()
  const confirm = async () => {
    if (await run(onConfirm)) onClose()
  }
  return (
    <Dialog title={title} text={text} onClose={onClose}>
      <div className="dfoot">
        <Problem error={error} />
        <button
          className="btn lg block danger"
          type="button"
          disabled={isRunning}
          onClick={() => void confirm()}
        >
          {isRunning ? (isSigned ? 'Confirm it in your wallet …' : 'One moment …') : label}
        </button>
        {isSigned && <p className="muted xs">Your wallet asks once, to sign this.</p>}
      </div>
    </Dialog>
  )
}
