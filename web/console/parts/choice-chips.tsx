import { Input } from '@mantine/core';

type Choice = { value: string; label: string };
type Props = {
  label: string;
  description?: string;
  choices: readonly Choice[];
  chosen: readonly string[];
  onToggle: (value: string) => void;
  error?: string | null;
  /** Follows the choices, such as a button that shows more of them. */
  children?: React.ReactNode;
};

/** Choices as chips, any number of them at once: each is a checkbox. */
export function ChoiceChips({ label, description, choices, chosen, onToggle, error, children }: Props) {
  return (
    <fieldset className="choices">
      <legend>{label}</legend>
      {description && <p className="choices-about">{description}</p>}
      <div className="choices-chips">
        {choices.map(({ value, label: name }) => (
          <label key={value} className="choice">
            <input type="checkbox" checked={chosen.includes(value)} onChange={() => onToggle(value)} />
            {name}
          </label>
        ))}
        {children}
      </div>
      {error && (
        <Input.Error role="alert" tabIndex={-1} mt={4}>
          {error}
        </Input.Error>
      )}
    </fieldset>
  );
}
