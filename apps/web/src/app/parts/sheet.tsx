import type { FocusEvent, MouseEvent, ReactNode } from 'react'
import { CloseIcon } from './frame-icons.tsx'

interface SheetProps {
  /** A button with this `popoverTarget` opens the sheet, also without script. */
  readonly id: string
  readonly title: string
  readonly className: string
  readonly children: ReactNode
}

/** Lies above a narrow page. Escape, its button and a press beside it close it and give the focus back. */
export const Sheet = ({ id, title, className, children }: SheetProps) => (
  // biome-ignore lint/a11y/noStaticElementInteractions: it only watches where the focus goes.
  <div id={id} className={`sheet ${className}`} popover="auto" onBlur={hideBehindFocus}>
    <div className="sheet-head">
      <strong>{title}</strong>
      <button
        className="icon-btn push"
        type="button"
        popoverTarget={id}
        popoverTargetAction="hide"
        aria-label={`Close: ${title}`}
      >
        <CloseIcon />
      </button>
    </div>
    {children}
  </div>
)

export const hideSheet = (sheet: HTMLElement): void => {
  if (sheet.matches(':popover-open')) sheet.hidePopover()
}

/** A link of the sheet changes the page below it. */
export function hideOwnSheet({ currentTarget }: MouseEvent<HTMLElement>): void {
  const sheet = currentTarget.closest<HTMLElement>('[popover]')
  if (sheet !== null) hideSheet(sheet)
}

/** The focus must not go on behind the sheet. Its own button closes it by itself. */
function hideBehindFocus({ currentTarget: sheet, relatedTarget: next }: FocusEvent<HTMLElement>): void {
  if (!(next instanceof HTMLElement) || sheet.contains(next)) return
  if (next.getAttribute('popovertarget') !== sheet.id) hideSheet(sheet)
}
