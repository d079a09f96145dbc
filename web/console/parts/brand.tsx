import { MARK_URL } from '../../../core/mark.ts';

/** The mark with the name. @param isNarrow a phone shows the mark alone */
export const Brand = ({ isNarrow = false }: { isNarrow?: boolean }) => (
  <>
    <img src={MARK_URL} width={22} height={22} alt="" />
    <span className={isNarrow ? 'wide-word' : undefined}>Hoplog</span>
  </>
);
