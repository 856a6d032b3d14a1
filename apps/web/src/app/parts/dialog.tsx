import { type ReactNode, useLayoutEffect, useRef } from 'react'
import { CloseIcon } from './frame-icons.tsx'

interface DialogProps {
  readonly title: string
  readonly text?: ReactNode
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Opens above the page, holds the focus, and gives it back to the button that opened it. */
export function Dialog({ title, text, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    // Before React removes it: only then the focus returns.
    return () => opened?.close()
  }, [])
  return (
    <dialog className="dialog" ref={dialog} aria-labelledby="dialog-title" onClose={onClose}>
      <div className="dhead">
        <div className="grow">
          <h2 id="dialog-title" className="any-word">
            {title}
          </h2>
          {text !== undefined && <div className="muted sm mt1 any-word">{text}</div>}
        </div>
        <button className="icon-btn" type="button" aria-label="Close" onClick={() => dialog.current?.close()}>
          <CloseIcon />
        </button>
      </div>
      {children}
    </dialog>
  )
}
