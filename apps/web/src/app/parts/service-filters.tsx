import type { ChangeEvent } from 'react'
import { NETWORKS, type NetworkName, PRICE_TYPES, TURNAROUNDS } from '../names.ts'
import type { ServiceFilter } from '../service-filter.ts'
import { Sheet } from './sheet.tsx'

interface FiltersProps {
  readonly filter: ServiceFilter
  readonly networks: readonly NetworkName[]
  readonly onChange: (event: ChangeEvent<HTMLInputElement>) => void
}

/** The filters of the shop, beside the list or in a sheet above it. Without script they are sent by a button. */
export const ServiceFilters = ({ filter, networks, onChange }: FiltersProps) => (
  <Sheet id="filters" title="Filters" className="filters">
    <fieldset>
      <legend>Price in USDC</legend>
      <div className="line-up">
        {(['min_price', 'max_price'] as const).map((name) => (
          <input
            key={name}
            className="input"
            name={name}
            inputMode="decimal"
            aria-label={name === 'min_price' ? 'Lowest price' : 'Highest price'}
            placeholder={name === 'min_price' ? 'From' : 'To'}
            defaultValue={filter[name] ?? ''}
            onChange={onChange}
          />
        ))}
      </div>
    </fieldset>
    <Choice
      legend="How it is priced"
      name="price_type"
      chosen={filter.price_type}
      options={Object.entries(PRICE_TYPES)}
      onChange={onChange}
    />
    {networks.length > 0 && (
      <Choice
        legend="Pay on"
        name="network"
        chosen={filter.network}
        options={networks.map((name) => [name, NETWORKS[name].label])}
        onChange={onChange}
      />
    )}
    <Choice
      legend="Delivered within"
      name="max_turnaround_hours"
      chosen={filter.max_turnaround_hours?.toString()}
      options={TURNAROUNDS}
      onChange={onChange}
    />
    <noscript>
      <button className="btn block" type="submit">
        Apply
      </button>
    </noscript>
  </Sheet>
)

interface ChoiceProps extends Pick<FiltersProps, 'onChange'> {
  readonly legend: string
  readonly name: 'price_type' | 'network' | 'max_turnaround_hours'
  readonly chosen: string | undefined
  readonly options: readonly (readonly [value: string, label: string])[]
}

const Choice = ({ legend, name, chosen, options, onChange }: ChoiceProps) => (
  <fieldset>
    <legend>{legend}</legend>
    {[['', 'Any'] as const, ...options].map(([value, label]) => (
      <label className="check" key={value}>
        <input
          type="radio"
          name={name}
          value={value}
          defaultChecked={(chosen ?? '') === value}
          onChange={onChange}
        />
        {name === 'network' && value !== '' ? (
          <span className={`net ${NETWORKS[value as NetworkName].style}`}>
            <i />
            {label}
          </span>
        ) : (
          label
        )}
      </label>
    ))}
  </fieldset>
)
