import { type ChangeEvent, useEffect, useRef } from 'react'
import { SearchIcon } from './icons.tsx'

interface SearchFieldProps {
  readonly label: string
  readonly placeholder: string
  readonly search: string | undefined
  readonly onChange?: (event: ChangeEvent<HTMLInputElement>) => void
  /** Whether "/" leads to the field. */
  readonly hasKey?: boolean
}

/** The field `search` of a form. */
export function SearchField({ label, placeholder, search, onChange, hasKey = false }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (!hasKey) return
    const focus = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof HTMLElement && event.target.matches('input, textarea, select')
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return
      event.preventDefault()
      field.current?.focus()
    }
    document.addEventListener('keydown', focus)
    return () => document.removeEventListener('keydown', focus)
  }, [hasKey])
  return (
    <div className="search big">
      <SearchIcon />
      <input
        ref={field}
        className="input"
        type="search"
        name="search"
        maxLength={100}
        aria-label={label}
        placeholder={placeholder}
        defaultValue={search ?? ''}
        onChange={onChange}
      />
      {hasKey && (
        <kbd className="hide-narrow" title="Press / to search">
          /
        </kbd>
      )}
    </div>
  )
}
