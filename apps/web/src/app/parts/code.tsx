import { highlight, type Language } from '@market/style/highlight'
import { useState } from 'react'
import { CopyIcon, TickIcon } from './icons.tsx'

const CLASSES = { comment: 'c', string: 's', keyword: 'k' } as const
const SHOWN_MS = 1_500

/** A program with colours and a button that copies it. */
export function Code({ text, language }: { readonly text: string; readonly language: Language }) {
  const [isCopied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    setTimeout(() => setCopied(false), SHOWN_MS)
  }
  let at = 0
  return (
    <div className="code-box">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: the keyboard scrolls long lines. */}
      <pre className="code" tabIndex={0}>
        {highlight(text, language).map(({ kind, text: part }) => {
          at += part.length
          return kind === 'plain' ? (
            part
          ) : (
            <span key={at} className={CLASSES[kind]}>
              {part}
            </span>
          )
        })}
      </pre>
      <CopyButton isCopied={isCopied} onClick={copy} />
    </div>
  )
}

interface CopyButtonProps {
  readonly isCopied: boolean
  readonly onClick?: () => void
}

export const CopyButton = ({ isCopied, onClick }: CopyButtonProps) => (
  <>
    <button className="icon-btn copy" type="button" onClick={onClick} title="Copy" aria-label="Copy the code">
      {isCopied ? <TickIcon size={14} /> : <CopyIcon />}
    </button>
    <span className="visually-hidden" aria-live="polite">
      {isCopied ? 'Copied' : ''}
    </span>
  </>
)
