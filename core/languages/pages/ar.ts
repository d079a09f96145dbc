import type { PageTranslation } from './words.ts';

export const ar: PageTranslation = {
  short_links: 'روابط قصيرة',
  short_links_text:
    'ينقل هذا العنوان زوار الروابط القصيرة إلى وجهاتها. لا يوجد شيء لعرضه هنا: افتح عنوان الرابط كاملًا.',
  not_found: 'الرابط غير موجود',
  not_found_text: 'لا يوجد رابط على هذا العنوان.',
  expired: 'انتهت صلاحية الرابط',
  expired_text: 'لم يعد هذا الرابط نشطًا.',
  blocked: 'الرابط محظور',
  blocked_text: 'حظر مشغّل هذه الخدمة هذا الرابط. ربما تم الإبلاغ عنه على أنه ضار.',
  unavailable: 'يُرجى المحاولة مرة أخرى',
  unavailable_text: 'يتعذر فتح هذا الرابط الآن. حاول مرة أخرى بعد قليل.',
  password_required: 'كلمة المرور مطلوبة',
  password_text: 'هذا الرابط محمي بكلمة مرور.',
  password_framed_text: 'هذا الرابط محمي بكلمة مرور. أدخلها في نافذة جديدة.',
  new_window: 'الفتح في نافذة جديدة',
  password: 'كلمة المرور',
  continue: 'متابعة',
  wrong_password: 'كلمة المرور غير صحيحة. حاول مرة أخرى.',
  too_many_attempts: 'محاولات كثيرة جدًا',
  too_many_attempts_text: 'أُدخلت كلمات مرور خاطئة كثيرة. حاول مرة أخرى بعد دقيقة.',
  redirecting: 'جارٍ تحويلك',
  made_with: 'صُنع باستخدام {service}',
  email: 'البريد الإلكتروني',
};
