import { useNavigate } from '@tanstack/react-router'
import { type ChangeEvent, useEffect, useRef } from 'react'
import { filterOf, type ServiceFilter } from '../service-filter.ts'

const TYPING_MS = 250

/** Puts the fields of the form into the address: at once, or when no more is typed. */
export function useFilterChange(filter: ServiceFilter) {
  const navigate = useNavigate({ from: '/' })
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const apply = (form: HTMLFormElement) => {
    clearTimeout(timer.current)
    const fields = Object.fromEntries(new FormData(form))
    const category = filter.category === undefined ? {} : { category: filter.category }
    void navigate({ search: { ...filterOf(fields), ...category }, replace: true, resetScroll: false })
  }
  return {
    now: (form: HTMLFormElement, event: { preventDefault(): void }) => {
      event.preventDefault()
      apply(form)
    },
    soon: ({ currentTarget: { form } }: ChangeEvent<HTMLInputElement | HTMLSelectElement>) => {
      clearTimeout(timer.current)
      if (form !== null) timer.current = setTimeout(() => apply(form), TYPING_MS)
    },
  }
}
